// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.CText;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CGenerator.RamHeader;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import io.kiln.tir.TirPrinter.ExprText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Prints one function of the loop IR. */
final class FunctionPrinter {
    private static final ExprText C = new ExprText(new Notation());

    private final StringBuilder out = new StringBuilder();
    private final PackedApi packed;
    private int depth;

    private FunctionPrinter(PackedApi packed) {
        this.packed = packed;
    }

    /**
     * The comment, the attribute that prevents inlining, and the definition.
     *
     * @param unit which of the functions that it calls have the packed signature, and which are copied to RAM
     */
    static String print(PrimFunc func, CodeUnit unit) {
        return print(func, "__attribute__((noinline)) " + ram(func.name(), unit), unit.packed());
    }

    private static String ram(String function, CodeUnit unit) {
        return unit.ram().functions().contains(function) ? RamHeader.code(function) + " " : "";
    }

    /** The part of a packed function that computes, which only that calls and with which it is placed. */
    static String printPart(PrimFunc func, PrimFunc whole, CodeUnit unit) {
        return print(func, ram(whole.name(), unit) + "static ", unit.packed());
    }

    private static String print(PrimFunc func, String attribute, PackedApi packed) {
        FunctionPrinter printer = new FunctionPrinter(packed);
        printer.line("/* " + CText.comment(func.comment()) + " */");
        printer.line(attribute + CSignature.of(func).text() + " {");
        printer.depth++;
        Set<String> used = UsedIntrinsics.buffers(func);
        func.buffers().stream()
                .filter(b -> !used.contains(b.name()))
                .forEach(b -> printer.line("(void)" + b.name() + ";"));
        func.constants().forEach(printer::table);
        printer.body(func.body());
        printer.line("return 0;");
        printer.depth--;
        printer.line("}");
        return printer.out.toString();
    }

    /** Gives a table its short name. */
    private void table(PrimFunc.Table table) {
        Buffer buffer = table.buffer();
        line("const " + buffer.dtype().cName() + "* const " + buffer.name() + " = " + table.symbol() + ";");
    }

    private void line(String text) {
        out.append("  ".repeat(depth)).append(text).append('\n');
    }

    private void body(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(this::statement);
        } else {
            statement(stmt);
        }
    }

    private void braced(String head, Stmt body, String tail) {
        line(head + " {");
        depth++;
        body(body);
        depth--;
        line("}" + tail);
    }

    private void statement(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            line("{");
            depth++;
            block.statements().forEach(this::statement);
            depth--;
            line("}");
        } else if (stmt instanceof Stmt.For loop) {
            braced(forHead(loop), loop.body(), "");
        } else if (stmt instanceof Stmt.While loop) {
            braced("while (" + expression(loop.condition()) + ")", loop.body(), "");
        } else if (stmt instanceof Stmt.If branch) {
            conditional(branch);
        } else if (stmt instanceof Stmt.Switch choice) {
            choose(choice);
        } else if (stmt instanceof Stmt.Comment comment) {
            line("/* " + CText.comment(comment.text()) + " */");
        } else if (stmt instanceof Stmt.Declare declare) {
            line((declare.mutable() ? "" : "const ")
                    + declare.variable().dtype().cName() + " "
                    + declare.variable().name() + " = " + expression(declare.value()) + ";");
        } else if (stmt instanceof Stmt.Assign assign) {
            assign(assign);
        } else {
            memory(stmt);
        }
    }

    private static String forHead(Stmt.For loop) {
        String v = loop.variable().name();
        String step = loop.step() == 1 ? "++" + v : v + " += " + loop.step();
        return "for (" + loop.variable().dtype().cName() + " " + v + " = " + expression(loop.begin()) + "; "
                + expression(Exprs.lt(loop.variable(), loop.end())) + "; " + step + ")";
    }

    private void conditional(Stmt.If branch) {
        line("if (" + expression(branch.condition()) + ") {");
        depth++;
        body(branch.then());
        depth--;
        if (branch.otherwise().isPresent()) {
            line("} else {");
            depth++;
            body(branch.otherwise().orElseThrow());
            depth--;
        }
        line("}");
    }

    private void choose(Stmt.Switch choice) {
        line("switch (" + expression(choice.value()) + ") {");
        depth++;
        for (int i = 0; i < choice.cases().size(); i++) {
            line((i < choice.cases().size() - 1 ? "case " + i : "default") + ": {");
            depth++;
            body(choice.cases().get(i));
            line("break;");
            depth--;
            line("}");
        }
        depth--;
        line("}");
    }

    private void assign(Stmt.Assign assign) {
        String name = assign.variable().name();
        if (assign.value() instanceof Expr.Binary sum
                && sum.op() == Expr.BinaryOp.ADD
                && sum.a().equals(assign.variable())) {
            line(name + " += " + expression(sum.b()) + ";");
        } else {
            line(name + " = " + expression(assign.value()) + ";");
        }
    }

    private void memory(Stmt stmt) {
        if (stmt instanceof Stmt.DeclareView view) {
            view(view);
        } else if (stmt instanceof Stmt.Store store) {
            Buffer buffer = store.buffer();
            String value = store.value().dtype() == buffer.dtype()
                    ? expression(store.value())
                    : expression(new Expr.Cast(buffer.dtype(), store.value()));
            line(buffer.name() + "[" + expression(store.index()) + "] = " + value + ";");
        } else if (stmt instanceof Stmt.CallFunction call) {
            call(call);
        } else if (stmt instanceof Stmt.CallKernel call) {
            List<String> arguments = new ArrayList<>();
            call.pointers().forEach(b -> arguments.add(b.name()));
            call.scalars().forEach(s -> arguments.add(expression(s)));
            String text = call.kernel().name() + "(" + String.join(", ", arguments) + ")";
            if (call.kernel().fails()) {
                checked(text);
            } else {
                line(text + ";");
            }
        } else if (stmt instanceof Stmt.Copy copy) {
            line("memcpy(" + copy.to().name() + ", " + copy.from().name() + ", " + copy.bytes() + ");");
        }
    }

    private void call(Stmt.CallFunction call) {
        List<String> pointers = call.arguments().stream().map(Buffer::name).toList();
        List<String> scalars =
                call.scalars().stream().map(FunctionPrinter::expression).toList();
        Optional<PackedFunction> function = packed.find(call.function());
        if (function.isPresent()) {
            line("{");
            depth++;
            PackedText.call(function.get(), pointers, scalars).forEach(this::line);
            depth--;
            line("}");
        } else {
            List<String> arguments = new ArrayList<>(pointers);
            arguments.addAll(scalars);
            checked(call.function() + "(" + String.join(", ", arguments) + ")");
        }
    }

    private void checked(String call) {
        line("if (" + call + " != 0) {");
        line("  return -1;");
        line("}");
    }

    private void view(Stmt.DeclareView view) {
        Buffer pointer = view.view();
        String type = (pointer.isWritable() ? "" : "const ") + pointer.dtype().cName() + "*";
        String offset = expression(view.offset());
        String place =
                offset.equals("0") ? view.base().name() : "&" + view.base().name() + "[" + offset + "]";
        String cast = pointer.dtype() == view.base().dtype() ? "" : "(" + type + ")(void*)";
        line(type + " const " + pointer.name() + " = " + cast + place + ";");
    }

    static String expression(Expr expr) {
        return C.print(expr);
    }

    private static final class Notation implements ExprText.Notation {
        @Override
        public String integer(Expr.IntImm imm) {
            long value = imm.value();
            if (imm.dtype() == DType.INT64) {
                return value == Long.MIN_VALUE ? "INT64_MIN" : "INT64_C(" + value + ")";
            }
            if (imm.dtype() == DType.UINT64) {
                return "UINT64_C(" + Long.toUnsignedString(value) + ")";
            }
            if (imm.dtype() == DType.UINT32) {
                return value + "u";
            }
            return value == Integer.MIN_VALUE ? "INT32_MIN" : Long.toString(value);
        }

        @Override
        public String real(Expr.FloatImm imm) {
            return FloatLiteral.of(Float.floatToRawIntBits(imm.value()));
        }

        @Override
        public String type(DType dtype) {
            return dtype.cName();
        }
    }
}
