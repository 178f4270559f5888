// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.base.DType;
import io.kiln.kernels.movement.Jteriscv_copyGenerated;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.stream.Stream;

/**
 * Copies elements and fills int8 ones. The C libraries of RISC-V cores do both byte by byte, in six and four instructions
 * each; there, int8 elements are moved eight aligned words at a time.
 *
 * @param byWords whether the C library is too slow
 */
public record WordMoves(boolean byWords) {
    private static final Kernel COPY = Kernel.inFile(
            "movement/kiln_copy_elements", Pointer.lastWritten(DType.INT8, DType.INT8), List.of(DType.INT32));

    private static final Kernel FILL =
            Kernel.inFile("movement/kiln_fill", List.of(Pointer.out(DType.INT8)), List.of(DType.INT32, DType.INT32));

    private static final int MOST_WRITTEN_OUT = 16;

    /** Bytes from which on a copy that would call the C library is by words. */
    private static final int LEAST_BYTES = 16;

    /** Moves for a core. */
    public static WordMoves of(CpuFeatures features) {
        return new WordMoves(features.family() == CpuFeatures.Family.RISCV && features.bits() == 32);
    }

    /** Emits a copy of this many elements. */
    void copy(BlockBuilder block, Buffer to, Buffer from, int count) {
        if (byWords && to.dtype() == DType.INT8) {
            block.call(COPY, List.of(from, to), List.of(Exprs.imm(count)));
        } else {
            block.add(new Stmt.Copy(to, from, (long) count * to.dtype().bytes()));
        }
    }

    /** The same function, in which the longer copies do not call the C library if that is too slow. */
    public PrimFunc withoutLibrary(PrimFunc function) {
        return byWords
                ? new PrimFunc(
                        function.name(),
                        function.comment(),
                        function.buffers(),
                        function.scalars(),
                        function.constants(),
                        withoutLibrary(function.body()))
                : function;
    }

    private static Stmt withoutLibrary(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            return new Stmt.Block(block.statements().stream()
                    .flatMap(s -> s instanceof Stmt.Copy copy ? byWords(copy) : Stream.of(withoutLibrary(s)))
                    .toList());
        }
        return stmt instanceof Stmt.Copy copy
                ? new Stmt.Block(byWords(copy).toList())
                : stmt.withInner(WordMoves::withoutLibrary);
    }

    /** The copy of bytes; elements of any type are bytes to the kernel. */
    private static Stream<Stmt> byWords(Stmt.Copy copy) {
        if (copy.bytes() < LEAST_BYTES) {
            return Stream.of(copy);
        }
        Buffer from = new Buffer(copy.from().name() + "_bytes", DType.INT8, 0, Buffer.Scope.VIEW);
        Buffer to = new Buffer(copy.to().name() + "_bytes", DType.INT8, 0, Buffer.Scope.MUTABLE_VIEW);
        return Stream.of(
                new Stmt.DeclareView(from, copy.from(), Exprs.imm(0)),
                new Stmt.DeclareView(to, copy.to(), Exprs.imm(0)),
                new Stmt.CallKernel(COPY, List.of(from, to), List.of(Exprs.imm(copy.bytes()))));
    }

    /** Emits a copy of this many elements without a known alignment. */
    public void copyUnaligned(BlockBuilder block, Buffer to, Buffer from, int count) {
        if (byWords && to.dtype() == DType.INT8 && count <= MOST_WRITTEN_OUT) {
            block.call(shortCopyKernel(count), List.of(from, to), List.of());
        } else {
            copy(block, to, from, count);
        }
    }

    /** Emits the filling of this many elements from a position on. */
    void fill(BlockBuilder block, String name, Buffer buffer, Expr first, int count, int value) {
        if (byWords && count > 0) {
            Buffer to = block.mutableView("fill_" + name, buffer, first);
            block.call(FILL, List.of(to), List.of(Exprs.imm(value), Exprs.imm(count)));
        } else {
            block.loop(name, count, (element, i) -> element.store(buffer, Exprs.add(first, i), Exprs.imm(value)));
        }
    }

    private static Kernel shortCopyKernel(int count) {
        String name = "kiln_copy_elements_" + count;
        return Kernel.of(
                name,
                Pointer.lastWritten(DType.INT8, DType.INT8),
                0,
                (out, html) -> Jteriscv_copyGenerated.render(out, html, name, count));
    }
}
