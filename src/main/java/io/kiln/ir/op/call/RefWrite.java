// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;

/** Gives a variable a new value. Arguments: the variable, the value. */
public record RefWrite() implements Op {
    public static final Signature<RefWrite> SIGNATURE = Signature.of(RefWrite.class, "ref_write")
            .state("variable")
            .data(
                    "value",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            args.get(0).equals(type),
                            "a variable of " + args.get(0).text() + " cannot hold " + type.text())))
            .attributes(RefWrite::new)
            .nothing();

    @Override
    public Card<RefWrite> card() {
        return SIGNATURE.of(this);
    }
}
