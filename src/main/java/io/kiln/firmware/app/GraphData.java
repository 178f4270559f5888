// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Prints a model's graph and parameters as C, for images that keep them in flash: {@code tvmgen_<name>_graph.h} declares them, {@code
 * <name>_graph.c} and {@code <name>_params.c} have them. A user's own program passes them to {@code
 * TVMGraphExecutor_Create} and {@code TVMGraphExecutor_LoadParams}.
 *
 * <p>Parameters with flash sectors of their own can be written without the rest of the image. The reserved word of their file then has a digest of
 * the graph and of the operators' C, and the image a function that compares it with its own.
 */
public final class GraphData {
    private static final int COLUMNS = 100;
    private static final int BYTES_ON_A_LINE = 16;
    private static final int ALIGNMENT = 8;
    private static final int RESERVED = 8;
    private static final Bytes NONE = ParameterFile.write(List.of());

    private static final String HEAD = """
        /* SPDX-License-Identifier: Apache-2.0
         * Made by Kiln from the model's archive; this file is yours to use without conditions.
         */
        """;

    private final InterfaceNames names;
    private final String graph;
    private final Bytes parameters;
    private final long digest;
    private final boolean hasOwnSectors;

    private GraphData(ModelLibrary library, boolean mayHaveOwnSectors) {
        this.names = new InterfaceNames(library.metadata().name());
        this.graph = compact(library.artifacts().of(ArtifactKind.GRAPH).get(0).text());
        Bytes file = library.artifacts().of(ArtifactKind.PARAMETERS).stream()
                .findFirst()
                .map(Artifact::content)
                .orElse(NONE);
        this.hasOwnSectors = mayHaveOwnSectors && !file.equals(NONE);
        this.digest = digest(library);
        this.parameters = hasOwnSectors ? marked(file, digest) : file;
    }

    /**
     * The graph and parameters of a model for the graph executor.
     *
     * @param mayHaveOwnSectors whether parameters, if there are any, lie in flash sectors of their own
     */
    public static GraphData of(ModelLibrary library, boolean mayHaveOwnSectors) {
        return new GraphData(library, mayHaveOwnSectors);
    }

    /** Whether there are parameters, in flash sectors of their own. */
    public boolean hasOwnSectors() {
        return hasOwnSectors;
    }

    /** The first eight bytes of a SHA-256 over everything in an image that has to match the parameters. */
    private static long digest(ModelLibrary library) {
        MessageDigest all = Digests.newSha256();
        library.artifacts().artifacts().stream()
                .filter(artifact -> artifact.kind() == ArtifactKind.GRAPH || artifact.kind() == ArtifactKind.SOURCE)
                .forEach(artifact -> {
                    all.update(artifact.fileName().getBytes(StandardCharsets.UTF_8));
                    all.update((byte) 0);
                    all.update(artifact.content().buffer());
                });
        return ByteBuffer.wrap(all.digest()).getLong();
    }

    /** The file with a digest in its reserved word, the second of 64 bits. */
    private static Bytes marked(Bytes file, long digest) {
        byte[] bytes = file.toArray();
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(RESERVED, digest);
        return Bytes.wrap(bytes);
    }

    /** {@code tvmgen_<name>_graph.h}. */
    public static String header(String model) {
        return new InterfaceNames(model).prefix() + "_graph" + InterfaceNames.HEADER_SUFFIX;
    }

    /** The macro that says that the parameters have to be checked. */
    static String digestMacro(String model) {
        return new InterfaceNames(model).prefix().toUpperCase(Locale.ROOT) + "_PARAMS_DIGEST";
    }

    /** Name of the function that checks the parameters in flash. */
    static String check(String model) {
        return new InterfaceNames(model).prefix() + "_check_params";
    }

    /** The text of the header that declares graph and parameters. */
    public Bytes headerText() {
        String prefix = names.prefix();
        String upper = prefix.toUpperCase(Locale.ROOT);
        return Bytes.ofText(HEAD
                + String.format(
                        Locale.ROOT,
                        """
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
                        %4$s
                        #ifdef __cplusplus
                        }
                        #endif

                        #endif /* %2$s_GRAPH_H_ */
                        """,
                        prefix,
                        upper,
                        parameters.size(),
                        hasOwnSectors ? "\n" + checkDeclaration() : ""));
    }

    private String checkDeclaration() {
        return String.format(Locale.ROOT, """
            /* The parameters can be flashed without the rest of the image; of the graph and its operators they hold this digest. */
            #define %s 0x%016xull
            /* 0 if they do; otherwise an error code, and TVMGetLastError says why. To be called before they are loaded. */
            int32_t %s(void);
            """, digestMacro(names.model()), digest, check(names.model()));
    }

    /** The sources by file name. */
    public SortedMap<String, Bytes> sources() {
        SortedMap<String, Bytes> sources = new TreeMap<>();
        List<String> lines = new ArrayList<>();
        if (hasOwnSectors) {
            lines.add("#include <tvm/runtime/c_backend_api.h>");
            lines.add("#include <tvm/runtime/crt/error_codes.h>");
        }
        lines.add("#include \"" + header(names.model()) + "\"");
        lines.add("");
        lines.add("const char " + names.prefix() + "_graph[] =");
        literal(lines);
        lines.add("");
        if (hasOwnSectors) {
            checkFunction(lines);
            sources.put(
                    names.model() + "_params.c",
                    text(parameters(
                            List.of("#include \"" + header(names.model()) + "\"", ""),
                            InterfaceNames.PARAMETERS_SECTION)));
        } else {
            lines = parameters(lines, InterfaceNames.CONSTANTS_SECTION);
        }
        sources.put(names.model() + "_graph.c", text(lines));
        return sources;
    }

    private static Bytes text(List<String> lines) {
        return Bytes.ofText(HEAD + String.join("\n", lines) + "\n");
    }

    private List<String> parameters(List<String> before, String section) {
        String prefix = names.prefix();
        List<String> lines = new ArrayList<>(before);
        lines.add("__attribute__((section(\"" + section + "\"), aligned(" + ALIGNMENT + "))) const uint8_t");
        lines.add("    " + prefix + "_params[" + prefix.toUpperCase(Locale.ROOT) + "_PARAMS_SIZE] = {");
        bytes(lines);
        lines.add("};");
        return lines;
    }

    private void checkFunction(List<String> lines) {
        lines.add("int32_t " + check(names.model()) + "(void) {");
        lines.add("  /* What is in flash, not what was linked. */");
        lines.add("  const volatile uint8_t* held = " + names.prefix() + "_params + " + RESERVED + ";");
        lines.add("  for (uint32_t i = 0; i < " + Long.BYTES + "u; ++i) {");
        lines.add("    if (held[i] != (uint8_t)(" + digestMacro(names.model()) + " >> (8u * i))) {");
        lines.add("      TVMAPISetLastError(\"parameters: those in flash belong to another graph\");");
        lines.add("      return (int32_t)kTvmErrorFunctionCallInvalidArg;");
        lines.add("    }");
        lines.add("  }");
        lines.add("  return 0;");
        lines.add("}");
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

    /** A JSON text without the spaces between values. */
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
