"""The paper itself: the values and names it prints, and the numbers of its running text."""
