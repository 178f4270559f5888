// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

/** An argument of an operator call: a computed value or a constant. */
public sealed interface Arg permits Arg.Ref, Constant {
    /** A parameter or binding by its id. */
    record Ref(int id) implements Arg {}
}
