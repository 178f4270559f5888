// SPDX-License-Identifier: Apache-2.0
/**
 * What other code generators take of a model, before Kiln schedules the rest: {@linkplain io.kiln.partition.CompositePattern patterns} of
 * operators become groups, and each group becomes an {@linkplain io.kiln.partition.ExternalFunction external function} that an
 * {@link io.kiln.partition.ExternalCodegen} makes C of.
 */
package io.kiln.partition;
