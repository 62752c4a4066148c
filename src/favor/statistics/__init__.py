"""Pure statistics: bootstrap, paired tests, agreement, effect sizes, summaries over seeds."""
