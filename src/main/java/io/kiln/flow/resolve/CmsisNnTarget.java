// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.FileFailure;
import io.kiln.firmware.SourceText;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.partition.UserFunctions;
import io.kiln.partition.cmsisnn.CmsisNnCodegen;
import io.kiln.target.CompositeTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Adds to a target the user's own functions, which take precedence, and the version of CMSIS-NN, as its header tells it. */
final class CmsisNnTarget {
    /** The parameters of the function that prepares fully connected layers: it got more of them over time. */
    private static final Pattern SUMS = Pattern.compile("arm_vector_sum_s8\\s*\\(([^)]*)\\)");

    private static final String BIAS_STRUCT = "cmsis_nn_bias_data";
    private static final int PARAMETERS_OF_7 = 7;

    private final CodegenSpec codegens;

    private CmsisNnTarget(CodegenSpec codegens) {
        this.codegens = codegens;
    }

    static CmsisNnTarget of(CodegenSpec codegens) {
        return new CmsisNnTarget(codegens);
    }

    /** The target string, canonical if it is composite. */
    String versioned(String text) {
        CompositeTarget target = withUser(CompositeTarget.parse(text));
        Path header = codegens.cmsisNn()
                .map(path -> path.resolve("Include").resolve("arm_nnfunctions.h"))
                .orElse(Path.of(""));
        if (target.externals().isEmpty() || !Files.isRegularFile(header)) {
            return target.text();
        }
        String version = version(read(header));
        return target.withExternals(target.externals().stream()
                        .map(external -> external.name().equals(CmsisNnCodegen.NAME)
                                ? external.withDefault("version", version)
                                : external)
                        .toList())
                .text();
    }

    private CompositeTarget withUser(CompositeTarget target) {
        boolean isNamed =
                target.externals().stream().anyMatch(external -> external.name().equals(UserFunctions.NAME));
        if (codegens.externals().isEmpty() || isNamed) {
            return target;
        }
        List<CompositeTarget.External> all = new ArrayList<>();
        all.add(new CompositeTarget.External(UserFunctions.NAME, new TreeMap<>()));
        all.addAll(target.externals());
        return target.withExternals(all);
    }

    /** The first version that declares what this header declares. */
    static String version(String header) {
        Matcher sums = SUMS.matcher(SourceText.withoutComments(header));
        int parameters = sums.find() ? sums.group(1).split(",", -1).length : 0;
        if (parameters >= PARAMETERS_OF_7) {
            return "7.0.0";
        }
        return header.contains(BIAS_STRUCT) ? "6.0.0" : parameters > 0 ? "5.0.0" : "4.1.0";
    }

    private static String read(Path header) {
        try {
            return Files.readString(header, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", header, e);
        }
    }
}
