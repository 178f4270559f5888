// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

/** A function called by an operator, as an index among its caller's functions. */
public record FunctionRef(int index) {
    @Override
    public String toString() {
        return "function " + index;
    }
}
