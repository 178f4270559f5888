// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.Optional;
import java.util.Set;

/**
 * The options of {@code cmsis-nn} in a target.
 *
 * @param version of the sources
 * @param isDsp whether the functions are those for the DSP extension, unless the core has MVE
 * @param isMve whether the functions are those for MVE
 * @param reportsErrors whether generated code states the last error
 */
record CmsisNnOptions(CmsisNnVersion version, boolean isDsp, boolean isMve, boolean reportsErrors) {
    static final String VERSION = "version";
    private static final String REPORTS_ERRORS = "debug_last_error";
    private static final Set<String> KNOWN = Set.of("mcpu", "mattr", REPORTS_ERRORS, VERSION);

    /**
     * The options of a part of a target. Which of CMSIS-NN's functions a core gets is decided by macros of the C compiler, hence by the
     * host's target.
     */
    static CmsisNnOptions of(CompositeTarget.External external, Target host) {
        return new CmsisNnOptions(
                CmsisNnVersion.find(external.option(VERSION, "")).orElse(CmsisNnVersion.NEWEST),
                host.features().hasDsp(),
                host.features().hasMve(),
                Set.of("1", "true", "True").contains(external.option(REPORTS_ERRORS, "0")));
    }

    /** The errors in a part of a target. */
    static Optional<Problem> problem(CompositeTarget.External external, Target host) {
        String where = "target `" + external.text() + "`";
        Optional<String> unknown = external.attributes().keySet().stream()
                .filter(option -> !KNOWN.contains(option))
                .findFirst();
        if (unknown.isPresent()) {
            return Optional.of(Failure.TARGET.problem(
                    "cmsis-nn has no option `-" + unknown.get() + "`",
                    where,
                    "-mcpu, -mattr, -debug_last_error or -version",
                    ""));
        }
        Optional<String> core =
                Optional.ofNullable(external.attributes().get("mcpu")).map(CmsisNnOptions::core);
        Optional<String> own = host.mcpu().map(CmsisNnOptions::core);
        if (core.isPresent() && own.isPresent() && !core.equals(own)) {
            return Optional.of(Failure.TARGET.problem(
                    "cmsis-nn is for " + core.get() + ", and the rest is for " + own.get(),
                    where,
                    "the same core",
                    "Correct -mcpu in one of them"));
        }
        return Optional.ofNullable(external.attributes().get(VERSION))
                .flatMap(version -> CmsisNnVersion.problem(version, where));
    }

    private static String core(String mcpu) {
        return mcpu.split("\\+", -1)[0];
    }
}
