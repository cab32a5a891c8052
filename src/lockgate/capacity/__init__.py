"""What is free, what fits, what would make it fit: one answer for planner, rule, metric and dashboard. Pure."""
