// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmInbox.Received;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmQueues;
import io.kiln.report.Json;
import java.time.Duration;

/** Asks a farm what it does. */
public final class FarmQuestion {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private FarmQuestion() {}

    /**
     * The state of a farm.
     *
     * @throws KilnException if its broker cannot be reached, or refuses this member, or nobody keeps the state
     */
    public static FarmState ask(FarmAddress address) {
        return ask(address, FarmOrder.STATE, "", "");
    }

    /**
     * The state of a farm after an order.
     *
     * @param unit what it is about, {@code WORKER} or {@code WORKER/PROBE}
     * @param why a reason for people
     * @throws KilnException as above
     */
    public static FarmState ask(FarmAddress address, FarmOrder order, String unit, String why) {
        if (address.isForeign() && (order == FarmOrder.HOLD || order == FarmOrder.RELEASE)) {
            throw Failure.FARM.exception(
                    "a broker of another make gives jobs to whoever asks for them, so no worker can be held",
                    address.url(),
                    "Kiln's own broker",
                    "Stop " + unit + ": it finishes nothing, and its jobs go to others");
        }
        String id = FarmJob.newId();
        try (FarmLink link = FarmLink.open(address);
                FarmInbox inbox = link.inbox(FarmQueues.ANSWERS, FarmQueues.CLIENT + " = '" + id + "'")) {
            order.send(link, id, unit, why);
            Received answer = inbox.receive(PATIENCE)
                    .orElseThrow(() -> Failure.FARM.exception(
                            "nobody answers for the farm", address.url(), "a broker that kiln:farm started"));
            answer.done().run();
            return Json.parse(answer.message().body().text(), FarmState.class);
        }
    }
}
