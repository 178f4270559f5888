// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.op.Op;
import java.util.function.Function;

/** Makes operators from a call. Each family has a table of rules by names in the text. */
public interface Rule {
    /**
     * The result of the call.
     *
     * @throws IllegalArgumentException with a message for users if the call is not supported
     */
    Value apply(CallSite call);

    /**
     * The rule of an operator determined by its attributes alone; its arguments are those of the call.
     *
     * @param make makes the operator from the attributes
     */
    static Rule of(Function<? super Attributes, ? extends Op> make) {
        return call -> call.compute(make.apply(call.attributes()));
    }
}
