/* route_constraint.c */
