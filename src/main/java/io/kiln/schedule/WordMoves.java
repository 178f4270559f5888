// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.Stmt;
import java.util.List;

/**
 * Copies and fills int8 elements. The C libraries of RISC-V cores do both byte by byte, in six and four instructions for each; there, aligned
 * words are moved eight at a time.
 *
 * @param byWords whether the C library is too slow
 */
record WordMoves(boolean byWords) {
    private static final int WORDS = 8;
    private static final int MOST_WRITTEN_OUT = 16;

    /** Moves for a core. */
    static WordMoves of(CpuFeatures features) {
        return new WordMoves(features.family() == CpuFeatures.Family.RISCV && features.bits() == 32);
    }

    /** Emits a copy of as many elements. */
    void copy(BlockBuilder block, Buffer to, Buffer from, int count) {
        if (byWords) {
            block.call(copyKernel(), List.of(from, to), List.of(Exprs.imm(count)));
        } else {
            block.add(new Stmt.Copy(to, from, (long) count * to.dtype().bytes()));
        }
    }

    /** Emits a copy of as many elements, wherever they lie. */
    void copyBytes(BlockBuilder block, Buffer to, Buffer from, int count) {
        if (byWords && count <= MOST_WRITTEN_OUT) {
            block.call(shortCopyKernel(count), List.of(from, to), List.of());
        } else {
            copy(block, to, from, count);
        }
    }

    /** Emits the filling of as many elements from a place on. */
    void fill(BlockBuilder block, String name, Buffer buffer, Expr first, int count, int value) {
        if (byWords && count > 0) {
            Buffer to = block.mutableView("fill_" + name, buffer, first);
            block.call(fillKernel(), List.of(to), List.of(Exprs.imm(value), Exprs.imm(count)));
        } else {
            block.loop(name, count, (element, i) -> element.store(buffer, Exprs.add(first, i), Exprs.imm(value)));
        }
    }

    private static Kernel copyKernel() {
        AsmText asm = new AsmText();
        asm.line("or t0, a0, a1");
        asm.line("andi t0, t0, 3");
        asm.line("bnez t0, 3f");
        asm.line("li t0, %d", 4 * WORDS);
        asm.line("bltu a2, t0, 2f");
        asm.line("1:");
        for (int i = 0; i < WORDS; i++) {
            asm.line("lw %s, %d(a0)", register(i), 4 * i);
        }
        for (int i = 0; i < WORDS; i++) {
            asm.line("sw %s, %d(a1)", register(i), 4 * i);
        }
        asm.line("addi a0, a0, %d", 4 * WORDS);
        asm.line("addi a1, a1, %d", 4 * WORDS);
        asm.line("addi a2, a2, -%d", 4 * WORDS);
        asm.line("bgeu a2, t0, 1b");
        asm.line("2:");
        asm.line("li t0, 4");
        asm.line("bltu a2, t0, 3f");
        asm.line("lw t1, 0(a0)");
        asm.line("sw t1, 0(a1)");
        asm.line("addi a0, a0, 4");
        asm.line("addi a1, a1, 4");
        asm.line("addi a2, a2, -4");
        asm.line("j 2b");
        asm.line("3:");
        asm.line("beqz a2, 4f");
        asm.line("lb t1, 0(a0)");
        asm.line("sb t1, 0(a1)");
        asm.line("addi a0, a0, 1");
        asm.line("addi a1, a1, 1");
        asm.line("addi a2, a2, -1");
        asm.line("j 3b");
        asm.line("4:");
        asm.line("ret");
        return kernel(
                "kiln_copy_elements",
                "Copies elements, which do not overlap, by words where both sides are aligned.",
                List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                List.of("const int8_t* from", "int8_t* to", "int32_t count"),
                asm,
                "count",
                "to[i] = from[i];");
    }

    private static Kernel shortCopyKernel(int count) {
        AsmText asm = new AsmText();
        for (int i = 0; i < count; i += WORDS) {
            for (int j = i; j < Math.min(count, i + WORDS); j++) {
                asm.line("lb %s, %d(a0)", register(j - i), j);
            }
            for (int j = i; j < Math.min(count, i + WORDS); j++) {
                asm.line("sb %s, %d(a1)", register(j - i), j);
            }
        }
        asm.line("ret");
        return kernel(
                "kiln_copy_elements_" + count,
                "Copies " + count + " elements.",
                List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                List.of("const int8_t* from", "int8_t* to"),
                asm,
                String.valueOf(count),
                "to[i] = from[i];");
    }

    private static Kernel fillKernel() {
        AsmText asm = new AsmText();
        asm.line("andi t0, a0, 3");
        asm.line("bnez t0, 2f");
        asm.line("andi t0, a1, 255");
        asm.line("slli t1, t0, 8");
        asm.line("or t0, t0, t1");
        asm.line("slli t1, t0, 16");
        asm.line("or t0, t0, t1");
        asm.line("li t1, 16");
        asm.line("bltu a2, t1, 2f");
        asm.line("1:");
        for (int i = 0; i < 4; i++) {
            asm.line("sw t0, %d(a0)", 4 * i);
        }
        asm.line("addi a0, a0, 16");
        asm.line("addi a2, a2, -16");
        asm.line("bgeu a2, t1, 1b");
        asm.line("2:");
        asm.line("beqz a2, 3f");
        asm.line("sb a1, 0(a0)");
        asm.line("addi a0, a0, 1");
        asm.line("addi a2, a2, -1");
        asm.line("j 2b");
        asm.line("3:");
        asm.line("ret");
        return kernel(
                "kiln_fill",
                "Fills elements, by words where they are aligned.",
                List.of(Pointer.out(DType.INT8)),
                List.of("int8_t* to", "int32_t value", "int32_t count"),
                asm,
                "count",
                "to[i] = (int8_t)value;");
    }

    /** Registers that words pass through. */
    private static String register(int i) {
        return i < 6 ? "t" + (1 + i) : "a" + (3 + i - 6);
    }

    private static Kernel kernel(
            String name,
            String comment,
            List<Pointer> pointers,
            List<String> parameters,
            AsmText asm,
            String count,
            String twin) {
        return new Kernel(
                name,
                pointers,
                parameters.stream().skip(pointers.size()).map(p -> DType.INT32).toList(),
                List.of(),
                """
                /* %s */
                #if defined(__riscv) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
                __attribute__((naked, noinline)) static void %s(__attribute__((unused)) %s) {
                  __asm__ volatile(
                %s  );
                }
                #else
                static void %s(%s) {
                  for (int32_t i = 0; i < %s; ++i) {
                    %s
                  }
                }
                #endif
                """.formatted(
                                comment,
                                name,
                                String.join(", __attribute__((unused)) ", parameters),
                                asm.lines(),
                                name,
                                String.join(", ", parameters),
                                count,
                                twin),
                List.of());
    }
}
