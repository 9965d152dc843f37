/* canon_number.c */
