// SPDX-License-Identifier: Apache-2.0
/** What a step remembers of its last run, and the lock that keeps two builds apart. */
package io.kiln.flow.state;
