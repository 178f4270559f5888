// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

/** A function that an operator calls, by its place among its caller's. */
public record FunctionRef(int index) {
    @Override
    public String toString() {
        return "function " + index;
    }
}
