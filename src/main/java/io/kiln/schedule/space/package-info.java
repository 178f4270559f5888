// SPDX-License-Identifier: Apache-2.0
/**
 * The interface of schedules: the layers to which they apply, the space of configurations, the loops of one of them,
 * and the choice among them.
 */
package io.kiln.schedule.space;
