// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import org.junit.jupiter.api.Test;

class TirPrinterTest {
    private static final Buffer INPUT = new Buffer("input", DType.INT8, 8, Scope.INPUT);
    private static final Buffer OUTPUT = new Buffer("output", DType.INT8, 8, Scope.OUTPUT);
    private static final Buffer TABLE = new Buffer("weights", DType.INT16, 2, Scope.CONSTANT);
    private static final Expr.Var ROW = Exprs.var("row");

    private static String print(BlockBuilder body) {
        PrimFunc.Table table = new PrimFunc.Table("f_weights", TABLE, Bytes.wrap(new byte[] {1, 0, 2, 0}));
        return TirPrinter.print(
                new PrimFunc("f", "all of it", List.of(INPUT, OUTPUT), List.of(ROW), List.of(table), body.build()));
    }

    @Test
    void loopsAndBranchesNest() {
        BlockBuilder body = new BlockBuilder();
        body.loop("i", ROW, imm(8), 2, (b, i) -> {
            Expr.Var sum = b.mutable("sum", load(INPUT, i));
            b.add(new Stmt.While(
                    lt(sum, imm(3)), new BlockBuilder().assign(sum, add(sum, 1)).build()));
            b.ifThenElse(
                    lt(sum, imm(9)),
                    then -> then.store(OUTPUT, i, sum),
                    otherwise -> otherwise.add(new Stmt.Switch(
                            ROW, List.of(new Stmt.Comment("nothing"), new Stmt.Store(OUTPUT, imm(0), imm(1))))));
        });
        assertThat(print(body)).isEqualTo("""
            // all of it
            def f(input: input int8[8], output: output int8[8], row: int32) {
              weights: table int16[2] = f_weights
              for i in range(row, 8, 2) {
                var sum: int32 = input[i]
                while sum < 3 {
                  sum = sum + 1
                }
                if sum < 9 {
                  output[i] = sum
                }
                else {
                  switch row {
                    case 0 {
                      // nothing
                    }
                    case 1 {
                      output[0] = 1
                    }
                  }
                }
              }
            }
            """);
    }

    @Test
    void literalsSayTheirTypeAndPointersTheirPlace() {
        Kernel kernel = new Kernel(
                "k",
                List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                List.of(DType.INT32),
                List.of(),
                "",
                List.of());
        BlockBuilder body = new BlockBuilder();
        body.let("wide", add(cast(DType.INT64, load(TABLE, imm(1))), imm(5, DType.INT64)));
        body.let("bits", add(cast(DType.UINT32, ROW), imm(0x80000000L, DType.UINT32)));
        body.let("real", Exprs.mul(cast(DType.FLOAT32, ROW), imm(1e-10f)));
        Buffer from = body.view("from", INPUT, ROW);
        Buffer to = body.mutableView("to", OUTPUT, imm(4));
        body.call(kernel, List.of(from, to), List.of(ROW));
        body.add(new Stmt.CallFunction("g", List.of(INPUT, OUTPUT), List.of()));
        body.add(new Stmt.Copy(OUTPUT, INPUT, 8));
        assertThat(print(body)).contains("""
              let wide: int64 = (int64)weights[1] + 5i64
              let bits: uint32 = (uint32)row + 2147483648u32
              let real: float32 = (float32)row * 1.0e-10f
              from: view int8[] = &input[row]
              to: mutable view int8[] = &output[4]
              call k(from, to, row)
              call g(input, output)
              copy(output, input, 8)
            """);
    }
}
