"""Table specifications, LaTeX, HTML, figures and the paper's own values."""
