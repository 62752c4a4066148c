"""Hand-made features of style: rates of function words, marks and shapes, masked content, habits that one can read."""
