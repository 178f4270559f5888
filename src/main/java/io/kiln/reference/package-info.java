// SPDX-License-Identifier: Apache-2.0
/** The interpreter of the graph IR: computes a model's results, bit-exact for integers. */
package io.kiln.reference;
