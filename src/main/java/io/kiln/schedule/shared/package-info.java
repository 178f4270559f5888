// SPDX-License-Identifier: Apache-2.0
/**
 * Schedules for little flash: one kernel takes the sizes of any layer at run time, so that an image holds it once, however many layers
 * there are.
 */
package io.kiln.schedule.shared;
