/** The assignors there are; the first is Apache Kafka's default, and stands in for a name that is unknown. */
export const ASSIGNORS = ['sticky', 'balanced', 'highly_available'] as const;

export type AssignorName = (typeof ASSIGNORS)[number];
