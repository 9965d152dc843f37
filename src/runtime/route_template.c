/* route_template.c */
