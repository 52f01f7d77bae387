/** The assignors there are; the first is the default of Apache Kafka. */
export const ASSIGNORS = ['sticky', 'balanced', 'highly_available'] as const;

export type AssignorName = (typeof ASSIGNORS)[number];
