// SPDX-License-Identifier: Apache-2.0
/** Schedules by dot products of whole windows, for data of 16 bits and float. */
package io.kiln.schedule.dot;
