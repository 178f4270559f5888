// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Prints a model's graph and parameters as C, for images that keep them in flash: {@code tvmgen_<name>_graph.h} declares them, and {@code
 * <name>_graph.c} has them. Whoever writes a program of their own hands them to {@code TVMGraphExecutor_Create} and {@code
 * TVMGraphExecutor_LoadParams}.
 */
public final class GraphData {
    private static final int COLUMNS = 100;
    private static final int BYTES_ON_A_LINE = 16;
    private static final int ALIGNMENT = 8;

    private static final String HEAD = """
            /* SPDX-License-Identifier: Apache-2.0
             * Made by Kiln from the model's archive; this file is yours to use without conditions.
             */
            """;

    private final InterfaceNames names;
    private final String graph;
    private final Bytes parameters;

    private GraphData(ModelLibrary library) {
        this.names = new InterfaceNames(library.metadata().name());
        this.graph = compact(library.artifacts().of(ArtifactKind.GRAPH).get(0).text());
        this.parameters = library.artifacts().of(ArtifactKind.PARAMETERS).stream()
                .findFirst()
                .map(Artifact::content)
                .orElse(ParameterFile.write(List.of()));
    }

    /** Of a model for the graph executor. */
    public static GraphData of(ModelLibrary library) {
        return new GraphData(library);
    }

    /** {@code tvmgen_<name>_graph.h}. */
    public static String header(String model) {
        return new InterfaceNames(model).prefix() + "_graph" + InterfaceNames.HEADER_SUFFIX;
    }

    /** File name of the source. */
    public String source() {
        return names.model() + "_graph.c";
    }

    /** The header's text. */
    public Bytes headerText() {
        String prefix = names.prefix();
        String upper = prefix.toUpperCase(Locale.ROOT);
        return Bytes.ofText(HEAD + """
                #ifndef %2$s_GRAPH_H_
                #define %2$s_GRAPH_H_

                #include <stdint.h>

                #ifdef __cplusplus
                extern "C" {
                #endif

                /* The graph, for TVMGraphExecutor_Create. */
                extern const char %1$s_graph[];

                /* The parameters, for TVMGraphExecutor_LoadParams; none if constants are linked with the operators. */
                #define %2$s_PARAMS_SIZE %3$d
                extern const uint8_t %1$s_params[%2$s_PARAMS_SIZE];

                #ifdef __cplusplus
                }
                #endif

                #endif /* %2$s_GRAPH_H_ */
                """.formatted(prefix, upper, parameters.size()));
    }

    /** The source's text. */
    public Bytes sourceText() {
        String prefix = names.prefix();
        List<String> lines = new ArrayList<>();
        lines.add("#include \"" + header(names.model()) + "\"");
        lines.add("");
        lines.add("const char " + prefix + "_graph[] =");
        literal(lines);
        lines.add("");
        lines.add("__attribute__((section(\"" + InterfaceNames.CONSTANTS_SECTION + "\"), aligned(" + ALIGNMENT
                + "))) const uint8_t");
        lines.add("    " + prefix + "_params[" + names.prefix().toUpperCase(Locale.ROOT) + "_PARAMS_SIZE] = {");
        bytes(lines);
        lines.add("};");
        return Bytes.ofText(HEAD + String.join("\n", lines) + "\n");
    }

    private void literal(List<String> lines) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < graph.length(); i++) {
            char c = graph.charAt(i);
            // Two question marks may begin a trigraph.
            line.append(c == '"' || c == '\\' || c == '?' ? "\\" + c : String.valueOf(c));
            if (line.length() >= COLUMNS) {
                lines.add("    \"" + line + "\"");
                line.setLength(0);
            }
        }
        lines.add("    \"" + line + "\";");
    }

    private void bytes(List<String> lines) {
        byte[] all = parameters.toArray();
        for (int i = 0; i < all.length; i += BYTES_ON_A_LINE) {
            StringBuilder line = new StringBuilder("   ");
            for (int k = i; k < Math.min(i + BYTES_ON_A_LINE, all.length); k++) {
                line.append(' ').append(all[k] & 0xff).append(',');
            }
            lines.add(line.toString());
        }
    }

    /** Without the spaces between values. */
    private static String compact(String json) {
        StringBuilder out = new StringBuilder();
        boolean isText = false;
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            if (isText && c == '\\' && i + 1 < json.length()) {
                out.append(c).append(json.charAt(++i));
                continue;
            }
            isText ^= c == '"';
            if (isText || !Character.isWhitespace(c)) {
                out.append(c);
            }
        }
        return out.toString();
    }
}
