// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.ResourceTree;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.target.Target;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class CalledCTest {
    private static final CodeOrigin ORIGIN = new CodeOrigin("model", Target.parse("llvm"));

    @Test
    void theFunctionOfEveryKernelFileCanBeFoundByTheLinker() {
        Map<String, String> files = new TreeMap<>();
        ResourceTree.read("kernels").forEach((file, content) -> files.put(file, content.text()));
        assertThat(files).hasSizeGreaterThan(60);
        files.forEach((file, text) -> {
            String own = file.substring(file.lastIndexOf('/') + 1, file.length() - ".h".length());
            String name = text.contains("#define NAME ") ? "NAME" : own;
            String body = text.substring(text.indexOf("\n\n"));
            if (Pattern.compile("\\b" + name + "\\(").matcher(body).find()) {
                String called = print(name, body);
                assertThat(called).as(file).containsPattern("extern [^\\n;{=]*\\b" + name + "\\(");
                assertThat(called).as(file).doesNotContainPattern("static [^\\n;{=]*\\b" + name + "\\(");
            }
        });
    }

    private static String print(String name, String definition) {
        Kernel kernel = new Kernel(name, List.of(), List.of(), List.of(), definition, List.of());
        return CalledC.print(List.of(function(new Stmt.CallKernel(kernel, List.of(), List.of()))), ORIGIN)
                .orElseThrow();
    }

    private static PrimFunc function(Stmt body) {
        return new PrimFunc("f", "Calls", List.of(), List.of(), List.of(), body);
    }

    @Test
    void aFunctionOfLibmIsCalledInsideOfAnother() {
        Buffer out = new Buffer("out", DType.FLOAT32, 1, Buffer.Scope.OUTPUT);
        Expr call = new Expr.Call(Intrinsic.EXPF, List.of(Exprs.imm(1.0f)));
        assertThat(CalledC.print(List.of(function(new Stmt.Store(out, Exprs.imm(0), call))), ORIGIN))
                .hasValueSatisfying(text -> assertThat(text)
                        .contains("#include <math.h>")
                        .contains("float kiln_libm_expf(float x0) {\n  return expf(x0);\n}\n"));
        assertThat(CalledC.print(List.of(function(new Stmt.Comment("nothing"))), ORIGIN))
                .isEmpty();
    }
}
