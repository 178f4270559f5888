// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.farm.link.AmqpMessages.Malformed;
import io.kiln.farm.link.AmqpMessages.Read;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.qpid.protonj2.client.StreamDelivery;
import org.apache.qpid.protonj2.client.StreamReceiver;
import org.apache.qpid.protonj2.client.exceptions.ClientException;
import org.apache.qpid.protonj2.client.exceptions.ClientOperationTimedOutException;

/**
 * Receives from a broker of another make. It asks for one message at a time, so that no message waits at a member that is busy; what nobody of a farm
 * sends is taken out of the queue and reported; and a job that has cost as many workers as it may is moved to the dead ones, which brokers do in
 * different ways, if at all.
 */
final class AmqpInbox implements FarmInbox {
    private static final long DRAIN_MILLIS = 300;

    private final AmqpLink link;
    private final String queue;
    private final StreamReceiver receiver;
    private final List<StreamDelivery> unfinished = new ArrayList<>();
    private final Condition condition;
    private final boolean isTaking;
    private boolean hasAsked;

    /**
     * @param condition which messages the broker was asked for
     * @param isTaking whether messages leave the queue, rather than copies of them
     */
    AmqpInbox(AmqpLink link, String queue, Condition condition, boolean isTaking, StreamReceiver receiver) {
        this.link = link;
        this.condition = condition;
        this.isTaking = isTaking;
        this.queue = queue;
        this.receiver = receiver;
    }

    @Override
    public Optional<Received> receive(Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        long left = patience.toNanos();
        while (left > 0) {
            Optional<StreamDelivery> next = next(left);
            if (next.isEmpty()) {
                if (link.isLost()) {
                    throw link.lost();
                }
                return Optional.empty();
            }
            Optional<Received> received = received(next.get());
            if (received.isPresent()) {
                return received;
            }
            left = end - System.nanoTime();
        }
        return Optional.empty();
    }

    private Optional<StreamDelivery> next(long nanos) {
        return link.engaged(() -> {
            if (!hasAsked) {
                receiver.addCredit(1);
                hasAsked = true;
            }
            long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
            Optional<StreamDelivery> next = Optional.ofNullable(receiver.receive(millis, TimeUnit.MILLISECONDS));
            hasAsked = next.isEmpty();
            return next;
        });
    }

    /** A message; empty for one that is none of a farm, or whose job is dead. */
    private Optional<Received> received(StreamDelivery delivery) {
        try {
            Read read = AmqpMessages.read(bytes(delivery));
            if (!condition.holds(read.message())) {
                link.engaged(delivery::release);
                throw link.selectsNot(queue, condition.toString());
            }
            if (queue.equals(FarmQueues.JOBS) && read.tries() >= FarmQueues.TRIES) {
                link.bury(read.message());
                accept(delivery);
                return Optional.empty();
            }
            unfinished.add(delivery);
            return Optional.of(new Received(read.message(), () -> {
                accept(delivery);
                unfinished.remove(delivery);
            }));
        } catch (Malformed e) {
            // Brokers offer a rejected message again, some of them for ever.
            accept(delivery);
            link.refuse(queue, e.getMessage());
            return Optional.empty();
        }
    }

    private byte[] bytes(StreamDelivery delivery) throws Malformed {
        try (InputStream in = link.engaged(delivery::rawInputStream)) {
            byte[] bytes = in.readNBytes(AmqpMessages.MOST_BYTES + 1);
            if (bytes.length > AmqpMessages.MOST_BYTES) {
                throw new Malformed("a message of more than " + AmqpMessages.MOST_BYTES + " bytes");
            }
            return bytes;
        } catch (IOException e) {
            throw link.lost(e);
        }
    }

    private void accept(StreamDelivery delivery) {
        link.engaged(delivery::accept);
    }

    /** The messages that come until the broker has none, at most some. */
    List<FarmMessage> all(int most, Duration patience) {
        List<FarmMessage> found = new ArrayList<>();
        Optional<Received> next = receive(patience);
        while (next.isPresent()) {
            next.get().done().run();
            found.add(next.get().message());
            next = found.size() < most ? receive(patience) : Optional.empty();
        }
        return found;
    }

    /** Tells the broker to send no more, and takes what is on its way: given back, it does not count as tried. Not all brokers answer. */
    private void takeBack() throws ClientException {
        try {
            AmqpLink.await(receiver.drain(), DRAIN_MILLIS);
        } catch (ClientOperationTimedOutException e) {
            // A job that comes just now counts as tried. There are no others on their way.
            hasAsked = true;
        }
        Optional.ofNullable(receiver.tryReceive()).ifPresent(unfinished::add);
    }

    @Override
    public void close() {
        if (link.isLost()) {
            return;
        }
        link.engaged(() -> {
            if (hasAsked && isTaking && queue.equals(FarmQueues.JOBS)) {
                takeBack();
            }
            for (StreamDelivery delivery : unfinished) {
                delivery.release();
            }
            AmqpLink.await(receiver.closeAsync());
            return true;
        });
    }
}
