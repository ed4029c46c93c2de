"""Search quality on judged questions: runs, metrics, reports."""
