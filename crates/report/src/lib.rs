//! Summaries as tables, JSON, CSV, plots and one-file HTML.
