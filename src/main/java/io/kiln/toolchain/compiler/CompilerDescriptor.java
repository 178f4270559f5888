// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The content of a compiler descriptor; {@code toolchains/schemas/compiler.schema.json} explains the keys.
 *
 * @param shims whether Kiln's own C library shims replace the toolchain's library
 */
record CompilerDescriptor(
        String id, String title, boolean shims, Optional<Bundle> bundle, FlagSets flags, Map<String, Family> families) {

    /**
     * A Maven artifact that contains the compiler.
     *
     * @param sha256 digest of the artifact for each classifier, in lower-case hexadecimal
     */
    record Bundle(
            String groupId,
            String artifactId,
            String version,
            int fetchMegabytes,
            int diskMegabytes,
            Map<String, String> sha256) {
        Bundle {
            sha256 = Map.copyOf(sha256);
        }
    }

    /** Cores that one driver compiles for. */
    record Family(
            String compiler, String install, List<String> flags, List<String> link, Map<String, List<String>> cpus) {}

    /** The family that contains this core. */
    Optional<Family> familyOf(String cpu) {
        return families.values().stream()
                .filter(family -> family.cpus().containsKey(cpu))
                .findFirst();
    }

    /** All cores of the descriptor, sorted. */
    TreeSet<String> cpus() {
        TreeSet<String> names = new TreeSet<>();
        families.values().forEach(family -> names.addAll(family.cpus().keySet()));
        return names;
    }
}
