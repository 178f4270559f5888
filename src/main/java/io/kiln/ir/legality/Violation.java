// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.legality;

import io.kiln.ir.Binding;

/**
 * A call that Kiln does not compile.
 *
 * @param binding the call, or the one that computes a result
 * @param what is wrong, in a sentence for users
 * @param expected what would be right
 */
public record Violation(Binding binding, String what, String expected) {}
