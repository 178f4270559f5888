// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.ir.op.Op;
import java.util.function.Function;

/** Makes operators of a call. Each family has a table of rules by the names in the text. */
public interface Rule {
    /**
     * What the call computes.
     *
     * @throws IllegalArgumentException with a sentence for users if that is not supported
     */
    Value apply(CallSite call);

    /**
     * The rule of an operator that the attributes alone determine; its arguments are those of the call.
     *
     * @param make the operator from the attributes
     */
    static Rule of(Function<Attributes, Op> make) {
        return call -> call.compute(make.apply(call.attributes()));
    }
}
