// SPDX-License-Identifier: Apache-2.0
/** What a schedule is: the layers it applies to, the space of its configurations, the loops of one of them, and the choice among them. */
package io.kiln.schedule.space;
