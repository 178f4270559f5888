// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The models on a device, as its firmware judges them: the newest region that is whole and signed runs.
 *
 * @param firmware what the firmware states of itself
 * @param slots the region in each slot, if there is one of any kind
 */
public record DeviceModels(InstalledFirmware firmware, List<Optional<ModelRegion>> slots) {
    public DeviceModels {
        slots = List.copyOf(slots);
    }

    /** Number of the slot whose region runs; empty if none does. */
    public Optional<Integer> running() {
        Optional<Integer> newest = Optional.empty();
        for (int i = 0; i < slots.size(); i++) {
            int slot = i;
            Optional<UpdateVersion> best =
                    newest.map(at -> slots.get(at).orElseThrow().version());
            boolean isNewer = slots.get(i)
                    .filter(region -> refusal(region, slot).isEmpty())
                    .filter(region -> best.isEmpty() || region.version().isAbove(best.get()))
                    .isPresent();
            newest = isNewer ? Optional.of(i) : newest;
        }
        return newest;
    }

    /** Number of the slot that an update is written to. */
    public int free() {
        return running().filter(slot -> slot == 0).isPresent() ? 1 : 0;
    }

    /** Version of the models that run; empty if none do. */
    public Optional<UpdateVersion> version() {
        return running().map(slot -> slots.get(slot).orElseThrow().version());
    }

    /** Whether the models of an update run already. */
    public boolean runs(UpdateFile update) {
        Optional<Bytes> now =
                running().map(slot -> slots.get(slot).orElseThrow().bytes());
        Optional<Bytes> wanted =
                running().flatMap(slot -> update.at(firmware.slots().get(slot))).map(ModelRegion::bytes);
        return now.isPresent() && now.equals(wanted);
    }

    /** The region of an update for the free slot. */
    public Optional<ModelRegion> next(UpdateFile update) {
        return update.at(firmware.slots().get(free()));
    }

    /** Why the device must not get an update; empty if it may. */
    public Optional<String> refusal(UpdateFile update) {
        Optional<ModelRegion> next = next(update);
        if (next.isEmpty()) {
            return Optional.of(String.format(
                    Locale.ROOT,
                    "it has no models for the slot at 0x%08x",
                    firmware.slots().get(free())));
        }
        Optional<String> wrong = refusal(next.get(), free());
        boolean isOld =
                version().filter(now -> !next.get().version().isAbove(now)).isPresent();
        return wrong.or(() -> isOld
                ? Optional.of("its models have version " + next.get().version() + ", and version "
                        + version().orElseThrow() + " runs")
                : Optional.empty());
    }

    /** Why the firmware does not run a region; empty if it does. */
    private Optional<String> refusal(ModelRegion region, int slot) {
        if (region.address() != firmware.slots().get(slot) || region.bytes().size() > firmware.slotBytes()) {
            return Optional.of("its models do not lie in the slot");
        }
        if (!region.board().equals(firmware.board())) {
            return Optional.of("it is for the board " + region.board() + ", not " + firmware.board());
        }
        if (!region.interfaceDigest().equals(firmware.interfaceDigest())) {
            return Optional.of("its models (" + region.models()
                    + ") have other names, tensors or scales than those that the firmware calls");
        }
        if (region.minimumFirmware().isAbove(firmware.version())) {
            return Optional.of(
                    "it needs firmware " + region.minimumFirmware() + ", and the device has " + firmware.version());
        }
        if (!region.fits(firmware.memory())) {
            return Optional.of("its models use other memory than the firmware leaves to them");
        }
        if (!region.isWhole()) {
            return Optional.of("its content is damaged");
        }
        return region.isSignedBy(firmware.key())
                ? Optional.empty()
                : Optional.of("it is not signed with the key of the firmware");
    }
}
