"""Pure statistics: bootstrap, sign flips, paired tests, agreement, effect sizes, summaries over seeds."""
