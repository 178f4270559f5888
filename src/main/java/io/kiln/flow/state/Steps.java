// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Log;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.flow.spec.BuildSpec.Layout;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Supplier;

/** Runs a step only if something that it depends on has changed, and says in one line why or why not. */
public final class Steps {
    private final Log log;
    private final Layout layout;

    public Steps(Log log, Layout layout) {
        this.log = log;
        this.layout = layout;
    }

    /**
     * Runs the work if need be.
     *
     * @param name names the step's memory
     * @param title what the line says is done, such as {@code Generating C}
     * @param now what the result depends on, the plugin's version left out
     * @param work does it and says which files it wrote, all below the build's folder
     * @return whether the work was done
     */
    public boolean run(String name, String title, Fingerprint now, Supplier<Collection<Path>> work) {
        Fingerprint whole = whole(now);
        StepState state = new StepState(layout.state(name));
        Optional<String> reason = state.reasonToRun(whole, layout.out());
        if (reason.isEmpty()) {
            log.info(title + ": nothing changed");
            return false;
        }
        log.info(title + ": " + reason.get());
        state.forget();
        state.record(whole, layout.out(), work.get());
        return true;
    }

    /** Why what a step wrote is not what it would write now; empty if it is. What was changed by hand does not count. */
    public Optional<String> outdated(String name, Fingerprint now) {
        return new StepState(layout.state(name)).changedInput(whole(now));
    }

    private static Fingerprint whole(Fingerprint now) {
        return now.setting("plugin version", PluginVersion.text());
    }
}
