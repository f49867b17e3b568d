#include "log/format.h"
void perp_log_put_scene(byte_row *row, const perp_model *model, const perp_kinematics *kinematics, double t,
                        const perp_step_info *info)
{
    (void)row;
    (void)model;
    (void)kinematics;
    (void)t;
    (void)info;
}
