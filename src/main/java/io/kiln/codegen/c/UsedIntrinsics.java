// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.DType;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.target.Target;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Finds the external definitions that functions use. */
public final class UsedIntrinsics {
    private static final String NAKED = "__attribute__((naked, noinline";

    private UsedIntrinsics() {}

    /** Intrinsics called, those needed by others first, then by name. */
    static List<Intrinsic> of(List<PrimFunc> functions) {
        Set<Intrinsic> found = new TreeSet<>(Comparator.comparing(Intrinsic::name));
        kernels(functions).forEach(k -> found.addAll(k.uses()));
        for (PrimFunc function : functions) {
            walk(
                    function.body(),
                    expr -> {
                        if (expr instanceof Expr.Call call) {
                            found.add(call.intrinsic());
                            found.addAll(call.intrinsic().uses());
                        }
                    },
                    statement -> {});
        }
        return found.stream()
                .sorted(Comparator.comparing(UsedIntrinsics::level).thenComparing(Intrinsic::name))
                .toList();
    }

    /** Depth of its dependencies. */
    private static int level(Intrinsic intrinsic) {
        return intrinsic.uses().stream().mapToInt(used -> 1 + level(used)).max().orElse(0);
    }

    /** Micro-kernels called, by name. */
    public static List<Kernel> kernels(List<PrimFunc> functions) {
        Map<String, Kernel> found = new TreeMap<>();
        functions.forEach(f -> walk(f.body(), e -> {}, s -> {
            if (s instanceof Stmt.CallKernel call) {
                found.put(call.kernel().name(), call.kernel());
            }
        }));
        return List.copyOf(found.values());
    }

    /** The same, those in assembly at the beginning of a line of the target's cache of instructions, if it has one. */
    static List<Kernel> kernels(List<PrimFunc> functions, Target target) {
        return target.features()
                .cache()
                .map(cache -> kernels(functions).stream()
                        .map(kernel -> kernel.defined(kernel.definition()
                                .replace(NAKED + "))", NAKED + ", aligned(" + cache.lineBytes() + ")))")))
                        .toList())
                .orElseGet(() -> kernels(functions));
    }

    /** Names of the functions of the loop IR that are called. */
    static Set<String> calls(List<PrimFunc> functions) {
        Set<String> found = new TreeSet<>();
        functions.forEach(f -> walk(f.body(), e -> {}, s -> {
            if (s instanceof Stmt.CallFunction call) {
                found.add(call.function());
            }
        }));
        return found;
    }

    /** Whether {@code memcpy} is called. */
    static boolean copies(List<PrimFunc> functions) {
        boolean[] found = new boolean[1];
        functions.forEach(f -> walk(f.body(), e -> {}, s -> found[0] |= s instanceof Stmt.Copy));
        return found[0];
    }

    /** Whether any function names the type {@code bool}. */
    static boolean bools(List<PrimFunc> functions) {
        boolean[] found = new boolean[1];
        for (PrimFunc function : functions) {
            found[0] |= CSignature.needsBool(function)
                    || function.constants().stream()
                            .anyMatch(table -> table.buffer().dtype() == DType.BOOL);
            walk(
                    function.body(),
                    expr -> found[0] |= expr instanceof Expr.Cast cast && cast.dtype() == DType.BOOL,
                    stmt -> found[0] |= stmt instanceof Stmt.Declare declare
                            && declare.variable().dtype() == DType.BOOL);
        }
        return found[0];
    }

    /** Names of the buffers that a function touches. */
    static Set<String> buffers(PrimFunc function) {
        Set<String> found = new TreeSet<>();
        Consumer<Buffer> add = buffer -> found.add(buffer.name());
        walk(
                function.body(),
                expr -> {
                    if (expr instanceof Expr.Load load) {
                        add.accept(load.buffer());
                    }
                },
                statement -> touched(statement).forEach(add));
        return found;
    }

    private static List<Buffer> touched(Stmt stmt) {
        if (stmt instanceof Stmt.DeclareView view) {
            return List.of(view.base());
        }
        if (stmt instanceof Stmt.Store store) {
            return List.of(store.buffer());
        }
        if (stmt instanceof Stmt.CallFunction call) {
            return call.arguments();
        }
        if (stmt instanceof Stmt.CallKernel call) {
            return call.pointers();
        }
        return stmt instanceof Stmt.Copy copy ? List.of(copy.to(), copy.from()) : List.of();
    }

    private static void walk(Stmt stmt, Consumer<Expr> exprs, Consumer<Stmt> statements) {
        statements.accept(stmt);
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(s -> walk(s, exprs, statements));
        } else if (stmt instanceof Stmt.For loop) {
            walk(loop.begin(), exprs);
            walk(loop.end(), exprs);
            walk(loop.body(), exprs, statements);
        } else if (stmt instanceof Stmt.While loop) {
            walk(loop.condition(), exprs);
            walk(loop.body(), exprs, statements);
        } else if (stmt instanceof Stmt.If branch) {
            walk(branch.condition(), exprs);
            walk(branch.then(), exprs, statements);
            branch.otherwise().ifPresent(o -> walk(o, exprs, statements));
        } else if (stmt instanceof Stmt.Switch choice) {
            walk(choice.value(), exprs);
            choice.cases().forEach(c -> walk(c, exprs, statements));
        } else if (stmt instanceof Stmt.Declare declare) {
            walk(declare.value(), exprs);
        } else if (stmt instanceof Stmt.Assign assign) {
            walk(assign.value(), exprs);
        } else if (stmt instanceof Stmt.Store store) {
            walk(store.index(), exprs);
            walk(store.value(), exprs);
        } else if (stmt instanceof Stmt.DeclareView view) {
            walk(view.offset(), exprs);
        } else if (stmt instanceof Stmt.CallKernel call) {
            call.scalars().forEach(s -> walk(s, exprs));
        } else if (stmt instanceof Stmt.CallFunction call) {
            call.scalars().forEach(s -> walk(s, exprs));
        }
    }

    private static void walk(Expr expr, Consumer<Expr> exprs) {
        exprs.accept(expr);
        if (expr instanceof Expr.Load load) {
            walk(load.index(), exprs);
        } else if (expr instanceof Expr.Binary binary) {
            walk(binary.a(), exprs);
            walk(binary.b(), exprs);
        } else if (expr instanceof Expr.Cast cast) {
            walk(cast.value(), exprs);
        } else if (expr instanceof Expr.Select select) {
            walk(select.condition(), exprs);
            walk(select.then(), exprs);
            walk(select.otherwise(), exprs);
        } else if (expr instanceof Expr.Call call) {
            call.args().forEach(a -> walk(a, exprs));
        }
    }

    /**
     * Makes a C file use the C twins of its micro-kernels on every machine: a kernel tests macros of the compiler for its instructions, and the
     * file undefines these behind its system headers.
     */
    static final class PortableKernels {
        /** The macros that kernels test; a test holds the list against their files. */
        static final List<String> MACROS = List.of(
                "__ARM_ARCH_6M__",
                "__ARM_FEATURE_CLZ",
                "__ARM_FEATURE_DSP",
                "__ARM_FEATURE_FMA",
                "__ARM_FEATURE_MVE",
                "__ARM_FEATURE_SAT",
                "__riscv",
                "__riscv_mul",
                "__thumb__");

        private PortableKernels() {}

        /** The directives that undefine the macros, with a comment that gives the reason. */
        static String directives() {
            return "\n/* kiln.portable: kernels take their C twins in place of assembly and vendor intrinsics. */\n"
                    + MACROS.stream().map(macro -> "#undef " + macro + "\n").collect(Collectors.joining());
        }
    }
}
