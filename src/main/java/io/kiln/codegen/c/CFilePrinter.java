// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.CText;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CStatement;
import java.util.List;
import java.util.Optional;

/** Prints {@link CFile}s. Headers have comments for Doxygen, and can be included by C++. */
final class CFilePrinter {
    private final CFile file;
    private final StringBuilder out = new StringBuilder();

    private CFilePrinter(CFile file) {
        this.file = file;
    }

    /** Items of a source without its head. */
    static String print(CodeOrigin origin, List<CItem> items) {
        CFilePrinter printer = new CFilePrinter(new CFile(origin, "", Optional.empty(), List.of(), items));
        items.forEach(printer::item);
        return printer.out.toString();
    }

    static String print(CFile file) {
        CFilePrinter printer = new CFilePrinter(file);
        printer.out.append(head(file.origin()));
        file.guard().ifPresentOrElse(printer::header, printer::content);
        return printer.out.toString();
    }

    private void header(String guard) {
        line("#ifndef " + guard);
        line("#define " + guard);
        includes();
        line("");
        line("#ifdef __cplusplus");
        line("extern \"C\" {");
        line("#endif");
        file.items().forEach(this::item);
        line("");
        line("#ifdef __cplusplus");
        line("}");
        line("#endif");
        line("");
        line("#endif  // " + guard);
    }

    private void content() {
        includes();
        file.items().forEach(this::item);
    }

    private void includes() {
        file.includes().forEach(name -> line("#include " + name));
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private void comment(String text) {
        if (!text.isEmpty()) {
            line((file.guard().isPresent() ? "/*! \\brief " : "/* ") + CText.comment(text) + " */");
        }
    }

    private void item(CItem item) {
        line("");
        if (item instanceof CItem.Macro macro) {
            comment(macro.comment());
            line("#define " + macro.name() + " " + macro.value());
        } else if (item instanceof CItem.Defines group) {
            comment(group.comment());
            group.defines().forEach(define -> line(("#define " + define.name() + " " + define.text()).stripTrailing()));
        } else if (item instanceof CItem.Struct struct) {
            comment(struct.comment());
            line(struct.name() + " {");
            struct.members().forEach(member -> line("  " + struct.type() + " " + member + ";"));
            line("};");
        } else if (item instanceof CItem.Prototype prototype) {
            comment(prototype.comment());
            line(prototype.signature().text() + ";");
        } else if (item instanceof CItem.StaticBytes array) {
            comment(array.comment());
            line("static uint8_t " + array.name() + "[" + array.size() + "] __attribute__((section(\"" + array.section()
                    + "\"), aligned(" + array.alignment() + ")));");
        } else if (item instanceof CItem.Constant constant) {
            comment(constant.comment());
            line("static " + constant.declaration() + " = {");
            constant.values().forEach(value -> line("    " + value + ","));
            line("};");
        } else if (item instanceof CItem.Code code) {
            out.append(code.text());
        } else if (item instanceof CItem.Definition definition) {
            comment(definition.comment());
            line(definition.signature().text() + " {");
            definition.body().forEach(statement -> statement(statement, "  "));
            line("}");
        }
    }

    private void statement(CStatement statement, String indent) {
        if (statement instanceof CStatement.CheckAlignment check) {
            line("  if (((uintptr_t)" + check.pointer() + " & " + (check.alignment() - 1) + "u) != 0u) {");
            line("    return " + check.error() + ";  /* " + check.errorName() + ": not aligned to " + check.alignment()
                    + " bytes */");
            line("  }");
        } else if (statement instanceof CStatement.BytePointer pointer) {
            line("  uint8_t* const " + pointer.name() + " = " + pointer.value() + ";");
        } else if (statement instanceof CStatement.StructValue struct) {
            line("  " + struct.type() + " " + struct.name() + " = {");
            struct.fields().forEach(field -> line("      ." + field.member() + " = " + field.value() + ","));
            line("  };");
        } else if (statement instanceof CStatement.Return exit) {
            line("  return " + exit.value() + ";");
        } else {
            packed(statement, indent);
        }
    }

    private void between(CStatement.Between between, String indent) {
        line(indent + "if (" + between.first() + " == 0) {");
        between.body().forEach(statement -> statement(statement, indent + "  "));
        line(indent + "  if (" + between.last() + " != 0) {");
        line(indent + "    " + between.status() + " = -1;");
        line(indent + "  }");
        line(indent + "}");
    }

    /** Statements of functions that call others, and of those with the packed signature. */
    private void packed(CStatement statement, String indent) {
        if (statement instanceof CStatement.Ignore ignore) {
            line("  (void)" + ignore.parameter() + ";");
        } else if (statement instanceof CStatement.Variable variable) {
            line("  " + variable.declaration() + " = " + variable.value() + ";");
        } else if (statement instanceof CStatement.Assign assign) {
            line(indent + assign.target() + " = " + assign.value() + ";");
        } else if (statement instanceof CStatement.Between between) {
            between(between, indent);
        } else if (statement instanceof CStatement.Demand demand) {
            line("  if (" + demand.call() + " != 0) {");
            line("    return -1;");
            line("  }");
        } else if (statement instanceof CStatement.Refuse refuse) {
            line("  if (" + refuse.condition() + ") {");
            line("    TVMAPISetLastError(\"" + refuse.message() + "\");");
            line("    return -1;");
            line("  }");
        }
    }

    static String head(CodeOrigin origin) {
        return "// tvm target: " + CText.comment(origin.target().text()) + "\n"
                + "// SPDX-License-Identifier: Apache-2.0\n"
                + "// Generated by Kiln from " + CText.comment(origin.source())
                + ". Kiln claims no rights in its output: it is yours, under any licence you choose.\n";
    }
}
