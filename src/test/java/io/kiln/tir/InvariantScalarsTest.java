// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.tir.UnusedScalars.InvariantScalars;
import org.junit.jupiter.api.Test;

class InvariantScalarsTest {
    @Test
    void only_scalars_that_read_nothing_that_changes_leave_the_loop() {
        Expr.Var i = Exprs.var("i");
        Expr.Var c = Exprs.var("c");
        BlockBuilder body = new BlockBuilder();
        Expr moving = body.let("moving", Exprs.mul(i, 3));
        Expr fixed = body.let("fixed", Exprs.mul(c, 5));
        Expr both = body.let("both", Exprs.add(moving, fixed));
        Expr twice = body.let("twice", Exprs.add(fixed, fixed));
        Expr.Var mutable = body.mutable("mutable", Exprs.mul(c, 7));
        body.assign(mutable, Exprs.add(both, twice));

        InvariantScalars found = InvariantScalars.of(body.build(), i);

        assertThat(found.before())
                .extracting(s -> ((Stmt.Declare) s).variable().name())
                .containsExactly("fixed", "twice");
        assertThat(found.inside().statements()).hasSize(4);
        assertThat(moving.dtype()).isEqualTo(DType.INT32);
    }
}
