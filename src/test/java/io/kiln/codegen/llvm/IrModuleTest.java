// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.llvm.IrExpressions.IrConstant;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.target.Target;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import io.kiln.tir.TirVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Printed modules, kept under review: {@code -Dgolden.update=true} writes them anew, for the diff. */
class IrModuleTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final Path GOLDEN = Path.of("src", "test", "resources", "io", "kiln", "codegen", "llvm");
    private static final CodeOrigin ORIGIN = new CodeOrigin("m.tflite", Target.parse("llvm -mcpu=cortex-m4"));

    private static final Buffer BYTES = new Buffer("bytes", DType.INT8, 16, Scope.INPUT);
    private static final Buffer FLOATS = new Buffer("floats", DType.FLOAT32, 16, Scope.INPUT);
    private static final Buffer OUT = new Buffer("out", DType.INT8, 64, Scope.OUTPUT);
    private static final Buffer READY = new Buffer("m_ready", DType.BOOL, 1, Scope.STATE);
    private static final Buffer TABLE = new Buffer("table", DType.INT16, 3, Scope.CONSTANT);
    private static final Expr.Var N = Exprs.var("n");

    @Test
    void theExampleModelIsAsReviewed() throws IOException {
        CodeUnit code = ModelCompiler.compile(RequestDraft.of(MODEL, "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                        .name("gesture")
                        .build())
                .code();
        review("gesture.ll", IrModule.print(code, Optimize.SPEED));
    }

    @Test
    void everyStatementAndConversionIsAsReviewed() throws IOException {
        PrimFunc helper = function("helper", statements().build());
        BlockBuilder main = new BlockBuilder();
        main.add(new Stmt.Comment("Calls */ of functions"));
        main.add(new Stmt.CallFunction("helper", List.of(BYTES, FLOATS, OUT), List.of(Exprs.add(N, 1))));
        main.add(new Stmt.Copy(OUT, BYTES, 16));
        List<PrimFunc> functions = List.of(helper, function("main_function", main.build()));
        functions.forEach(function -> TirVerifier.verify(function, List.of(READY)));
        review(
                "statements.ll",
                IrModule.print(new CodeUnit(ORIGIN, "m_lib1", List.of(READY), functions), Optimize.SIZE));
    }

    private static PrimFunc function(String name, Stmt body) {
        PrimFunc.Table table = new PrimFunc.Table(
                name + "_table", TABLE, Bytes.wrap(new byte[] {1, 0, -1, -1, 0, -128}), "three numbers");
        return new PrimFunc(name, "Does " + name, List.of(BYTES, FLOATS, OUT), List.of(N), List.of(table), body);
    }

    private static BlockBuilder statements() {
        BlockBuilder body = new BlockBuilder();
        Expr.Var sum = body.mutable("sum", Exprs.imm(0));
        body.loop("i", Exprs.imm(2), N, 3, (b, i) -> {
            b.assign(sum, Exprs.add(sum, Exprs.mul(Exprs.load(BYTES, i), Exprs.load(TABLE, Exprs.imm(2)))));
            b.store(OUT, i, Exprs.max(sum, Exprs.imm(-128)));
        });
        body.ifThenElse(
                Exprs.and(Exprs.gt(N, Exprs.imm(3)), Exprs.lt(Exprs.load(BYTES, N), Exprs.imm(0))),
                b -> b.store(READY, Exprs.imm(0), Exprs.imm(1, DType.BOOL)),
                b -> b.add(new Stmt.While(Exprs.lt(sum, N), new Stmt.Assign(sum, Exprs.add(sum, Exprs.imm(1))))));
        body.add(new Stmt.Switch(N, List.of(set(sum, 5), set(sum, 6), set(sum, 7))));
        Buffer words = new Buffer("words", DType.INT32, 0, Scope.MUTABLE_VIEW);
        body.add(new Stmt.DeclareView(words, OUT, Exprs.mul(N, 4)));
        Expr wide = body.let("wide", Exprs.shl(Exprs.cast(DType.INT64, sum), Exprs.imm(3)));
        body.store(words, Exprs.imm(0), Exprs.cast(DType.INT32, wide));
        Expr real = body.let("real", Exprs.add(Exprs.load(FLOATS, N), Exprs.imm(Float.NaN)));
        body.store(OUT, Exprs.imm(1), Exprs.cast(DType.UINT8, real));
        body.store(OUT, Exprs.imm(2), Exprs.select(Exprs.notEqual(real, Exprs.imm(0.1f)), Exprs.load(BYTES, N), sum));
        Expr unsigned = Exprs.shr(Exprs.cast(DType.UINT32, sum), Exprs.imm(1, DType.UINT32));
        body.store(OUT, Exprs.cast(DType.INT32, Exprs.add(unsigned, Exprs.imm(7, DType.UINT32))), Exprs.lt(sum, N));
        Expr.Call call = new Expr.Call(Intrinsic.EXPF, List.of(real));
        body.store(OUT, Exprs.imm(3), Exprs.cast(DType.INT8, call));
        // C reads a + b - c from left to right.
        body.store(OUT, Exprs.imm(4), Exprs.add(sum, Exprs.sub(N, Exprs.load(BYTES, Exprs.imm(0)))));
        return body;
    }

    private static Stmt set(Expr.Var variable, long value) {
        return new Stmt.Assign(variable, Exprs.imm(value));
    }

    @Test
    void floatsAreExactToTheBit() {
        assertThat(IrConstant.ofFloat(Float.floatToRawIntBits(1.5f))).isEqualTo("0x3FF8000000000000");
        assertThat(IrConstant.ofFloat(1)).isEqualTo("0x36A0000000000000");
        assertThat(IrConstant.ofFloat(0x80000000)).isEqualTo("0x8000000000000000");
        assertThat(IrConstant.ofFloat(0xFF800000)).isEqualTo("0xFFF0000000000000");
        assertThat(IrConstant.ofFloat(0x7FA00001)).isEqualTo("0x7FF4000020000000");
    }

    private static void review(String name, String text) throws IOException {
        Path golden = GOLDEN.resolve(name);
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(golden, text);
        }
        assertThat(text).isEqualTo(Files.readString(golden));
    }
}
