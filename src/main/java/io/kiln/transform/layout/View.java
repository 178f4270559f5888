// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;

/**
 * A value as another one in another order of dimensions, which needs no operator as long as nobody wants it so.
 *
 * @param base the other value
 * @param order the order
 */
record View(Arg base, Permutation order) {}
