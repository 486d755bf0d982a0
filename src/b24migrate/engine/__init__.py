"""From a plan to its end: which mini-task may start, what it consists of, who performs its jobs, how far it is."""
