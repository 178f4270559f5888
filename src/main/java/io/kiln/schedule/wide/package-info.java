// SPDX-License-Identifier: Apache-2.0
/** Depthwise convolutions of int16 data by micro-kernels. */
package io.kiln.schedule.wide;
