// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;

/**
 * A value that is another value with its dimensions in another order. A transpose is emitted only if an operator needs that order.
 *
 * @param base the other value
 * @param order the order
 */
record View(Arg base, Permutation order) {}
