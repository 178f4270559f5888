// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Extensions;
import io.kiln.base.Log;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.farm.link.EngineParts;
import io.kiln.flow.spec.BuildSpec.Layout;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Supplier;

/** Runs a step only if one of its inputs has changed, and logs in one line why or why not. */
public final class Steps {
    private final Log log;
    private final Layout layout;

    public Steps(Log log, Layout layout) {
        this.log = log;
        this.layout = layout;
    }

    /**
     * Runs the step if it is out of date.
     *
     * @param title text for the log, such as {@code Generating C}
     * @param now the inputs, without Kiln itself; the state file is called like their result
     * @param work does the work and returns the files it wrote, all below the build's folder
     * @return whether the step ran
     */
    public boolean run(String title, Fingerprint now, Supplier<Collection<Path>> work) {
        Fingerprint whole = whole(now);
        StepState state = new StepState(layout.state(now.result()));
        Optional<String> reason = state.reasonToRun(whole, layout.out());
        if (reason.isEmpty()) {
            log.info(title + ": nothing changed");
            return false;
        }
        String why = title + ": " + reason.get();
        if (reason.get().equals(StepState.FIRST)) {
            log.debug(why);
        } else {
            log.info(why);
        }
        state.forget();
        state.record(whole, layout.out(), work.get());
        return true;
    }

    /** Why a step's output is out of date; empty if it is not. Outputs changed by hand are not checked. */
    public Optional<String> outdated(Fingerprint now) {
        return new StepState(layout.state(now.result())).changedInput(whole(now));
    }

    private static Fingerprint whole(Fingerprint now) {
        return now.value("Kiln", PluginVersion.text())
                .value(
                        "extensions",
                        Extensions.code(Steps.class.getClassLoader()).stream()
                                .filter(place -> !EngineParts.has(place))
                                .toList());
    }
}
