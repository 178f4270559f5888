// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import gg.jte.Content;
import gg.jte.TemplateOutput;
import gg.jte.html.HtmlInterceptor;
import gg.jte.output.StringOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints the C text of a micro-kernel from a template under {@code kernels/<operator>/}: one sheet has the assembly of an instruction set and
 * its C twin. A kernel without parameters is a plain file of C.
 *
 * <p>A template is compiled to a Java class during the build, so that a parameter that is missing or has another type does not compile. Lines
 * of a sheet that turn out empty are not printed, so that conditions and loops may have lines of their own.
 */
public final class KernelSheet {
    /** An empty line of a sheet that is printed. */
    public static final String EMPTY_LINE = "\f";

    private KernelSheet() {}

    /** A compiled template whose parameters are bound. */
    @FunctionalInterface
    public interface Template {
        /**
         * Prints the template.
         *
         * @param out where the text goes
         * @param html what the template engine asks about HTML; kernels have none
         */
        void render(TemplateOutput out, HtmlInterceptor html);
    }

    /**
     * The text of a kernel without parameters: a file of C that an editor, a linter and a compiler can read unchanged. Its head, up to the
     * first empty line, is only for them: it includes what the kernel uses. The rest is printed into models.
     *
     * @param name path under {@code kernels/} without its suffix, for example {@code thumb2/kiln_smlad}
     * @throws IllegalArgumentException if there is no such file, or it has no head
     */
    static String file(String name) {
        try (InputStream in = KernelSheet.class.getResourceAsStream("/kernels/" + name + ".h")) {
            if (in == null) {
                throw new IllegalArgumentException("no kernel file " + name + ".h");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            int head = text.indexOf("\n\n");
            if (head < 0) {
                throw new IllegalArgumentException(name + ".h has no empty line behind its head");
            }
            return text.substring(head + 2);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The C name that a file defines: the last part of its path. */
    static String name(String file) {
        return file.substring(file.lastIndexOf('/') + 1);
    }

    /** The text that a template prints, without empty lines. */
    public static String text(Template template) {
        StringOutput out = new StringOutput();
        template.render(out, null);
        return withoutEmptyLines(out.toString());
    }

    /** Parameters of a naked function, which only its assembly reads, as a C list. */
    public static String unused(Iterable<String> parameters) {
        StringBuilder out = new StringBuilder();
        parameters.forEach(p -> out.append(out.isEmpty() ? "" : ", ")
                .append("__attribute__((unused)) ")
                .append(p));
        return out.toString();
    }

    /**
     * Lines of assembly as C strings of one inline statement, in GNU syntax.
     *
     * <p>A comment of a line, from {@code //} on, is for the template's readers. Lines between {@code .rept} and {@code .endr} are indented.
     */
    public static Content assembly(Content body) {
        return assembly("      \"", body, "\\n\"\n");
    }

    /** The same, further to the right and with a tab behind each line, as the statements for vectors and floating-point units have it. */
    public static Content indentedAssembly(Content body) {
        return assembly("        \"", body, "\\n\\t\"\n");
    }

    private static Content assembly(String begin, Content body, String end) {
        return out -> {
            StringOutput text = new StringOutput();
            body.writeTo(text);
            boolean isRepeated = false;
            for (String line : lines(text.toString())) {
                int comment = line.indexOf("//");
                String instruction = (comment < 0 ? line : line.substring(0, comment)).strip();
                if (instruction.isEmpty()) {
                    continue;
                }
                isRepeated &= !instruction.equals(".endr");
                out.writeContent(begin);
                out.writeContent(isRepeated ? "  " : "");
                out.writeContent(instruction);
                out.writeContent(end);
                isRepeated |= instruction.startsWith(".rept ");
            }
        };
    }

    private static String withoutEmptyLines(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (String line : lines(text)) {
            if (line.equals(EMPTY_LINE)) {
                out.append('\n');
            } else if (!line.isBlank()) {
                out.append(line).append('\n');
            }
        }
        return out.toString();
    }

    /** Every schedule that is tried prints its kernel, and a stream of lines takes as long as the printing. */
    private static List<String> lines(String text) {
        List<String> lines = new ArrayList<>();
        for (int begin = 0; begin < text.length(); ) {
            int end = text.indexOf('\n', begin);
            lines.add(text.substring(begin, end < 0 ? text.length() : end));
            begin = end < 0 ? text.length() : end + 1;
        }
        return lines;
    }
}
