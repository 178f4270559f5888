// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.legality;

import io.kiln.ir.Binding;

/**
 * A call that Kiln does not compile.
 *
 * @param binding the call, or the one that computes a result
 * @param what what is wrong, as a message for users
 * @param expected what was expected
 */
public record Violation(Binding binding, String what, String expected) {}
