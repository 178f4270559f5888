// SPDX-License-Identifier: Apache-2.0
/** Which goal each layer of a program gets, so that the program takes the fewest cycles within limits of memory. */
package io.kiln.tuning.fit;
