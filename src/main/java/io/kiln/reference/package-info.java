// SPDX-License-Identifier: Apache-2.0
/** The interpreter of the graph IR: says what a model answers, bit for bit for integers. */
package io.kiln.reference;
