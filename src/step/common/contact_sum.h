/* contact_sum.h - the contacts of a step that was taken in parts: impulses over the step's length.
 *
 * The force of a contact is the sum over the parts of its force times the part's share of the step: impulse / h. So the
 * forces of a step account for all the momentum that it changed, whatever it was split into. Its frame, mode and slip
 * are those of the last part in which it carried force, and so is its place until the run completes it. A contact that
 * was there in earlier parts only stays listed. Each part's force is in the friction cone of that part's frame. The sum
 * may lie outside of the last one's, where frames turn; its margin is the sum of theirs. */
#ifndef PERP_SRC_STEP_CONTACT_SUM_H
#define PERP_SRC_STEP_CONTACT_SUM_H

#include <perp/step.h>

/* In the order of contact sets. The spare arrays change places with the others at every sum. */
typedef struct contact_sum {
    int count, element_count;
    perp_contact_record *records, *spare;
    perp_element_record *elements, *spare_elements;
    int capacity, spare_capacity, element_capacity, spare_element_capacity;
} contact_sum;

/* Adds a part whose records are in the order of contact sets; `share`: its length over the step's. OUT_OF_MEMORY. */
perp_status perp_contact_sum_add(contact_sum *sum, const perp_allocator *allocator, const perp_contact_record *records,
                                 int count, const perp_element_record *elements, double share, perp_error *error);
void perp_contact_sum_free(contact_sum *sum, const perp_allocator *allocator);

#endif
