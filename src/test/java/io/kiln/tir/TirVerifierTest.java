// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

class TirVerifierTest {
    private static final Buffer INPUT = new Buffer("input", DType.INT8, 4, Buffer.Scope.INPUT);
    private static final Buffer OUTPUT = new Buffer("output", DType.INT8, 4, Buffer.Scope.OUTPUT);

    private static void verify(BlockBuilder body) {
        TirVerifier.verify(new PrimFunc("f", "test", List.of(INPUT, OUTPUT), List.of(), List.of(), body.build()));
    }

    @Test
    void everyViolationIsReportedAtOnce() {
        BlockBuilder body = new BlockBuilder();
        body.store(INPUT, Exprs.imm(0), Exprs.imm(1));
        body.assign(Exprs.var("nowhere"), Exprs.imm(0));
        body.store(OUTPUT, Exprs.var("unknown"), Exprs.imm(1.5f));
        assertThatThrownBy(() -> verify(body))
                .hasMessageContaining("store to read-only input")
                .hasMessageContaining("nowhere is assigned but is not a mutable scalar")
                .hasMessageContaining("unknown is used before it is declared")
                .hasMessageContaining("store of float32 to output");
    }

    @Test
    void aNameMustNotHideAnother() {
        BlockBuilder body = new BlockBuilder();
        Expr i = body.let("i", Exprs.load(INPUT, Exprs.imm(0)));
        body.loop("i", Exprs.imm(0), i, 1, (inner, j) -> inner.store(OUTPUT, j, j));
        assertThatThrownBy(() -> verify(body)).hasMessageContaining("i is declared twice");
    }

    @Test
    void aPointerMustNotHideAScalarNorAPointer() {
        BlockBuilder body = new BlockBuilder();
        body.let("place", Exprs.load(INPUT, Exprs.imm(0)));
        body.loop("i", Exprs.imm(0), Exprs.imm(4), 1, (inner, i) -> {
            Buffer place = inner.mutableView("place", OUTPUT, i);
            inner.store(place, Exprs.imm(0), Exprs.load(inner.view("input", INPUT, i), Exprs.imm(0)));
        });
        assertThatThrownBy(() -> verify(body))
                .hasMessageContaining("place is declared twice")
                .hasMessageContaining("input is declared twice");
    }
}
